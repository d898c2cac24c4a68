import type { Class } from '../json-schema.js';

/** A class and those it extends, the base first. */
export function lineageOf(dto: Class): Class[] {
  const classes: Class[] = [];
  let current: unknown = dto;
  while (typeof current === 'function' && current !== Function.prototype) {
    classes.unshift(current as Class);
    current = Object.getPrototypeOf(current);
  }
  return classes;
}

/** What a class's prototypes say of a property: an accessor or a method, if anything. */
export function accessorOf(dto: Class, property: string): PropertyDescriptor | undefined {
  for (const owner of lineageOf(dto).reverse()) {
    const descriptor = Object.getOwnPropertyDescriptor(owner.prototype, property);
    if (descriptor) return descriptor;
  }
  return undefined;
}
