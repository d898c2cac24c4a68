import {
  Inject,
  Injectable,
  Module,
  Scope,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, Reflector, REQUEST } from '@nestjs/core';
import { McpExecutionContext, McpModule, type McpStdioApp } from 'nest-mcp';

/** What a guard was told of one call. */
interface Sight {
  readonly type: string;
  readonly kind: string | undefined;
  readonly target: string;
  readonly home: unknown;
  readonly tag: unknown;
  readonly args: unknown;
}

/** What one application did: how often its handlers ran, and what its guard was told. */
export class Witness {
  /** Whether the guard lets calls pass; a control that the handlers do run when they may. */
  allows = false;
  /** Whether it refuses at the endpoint as well. */
  refusesHttp = false;
  runs = 0;
  readonly seen: Sight[] = [];

  judge(context: ExecutionContext, request: unknown): boolean {
    const type = context.getType<string>();
    const { headers } = request as { headers: Record<string, unknown> };
    const view = type === 'mcp' ? McpExecutionContext.create(context) : undefined;
    this.seen.push({
      type,
      kind: view?.kind,
      target: `${context.getClass().name}.${context.getHandler().name}`,
      home: new Reflector().getAllAndOverride('home', [context.getHandler(), context.getClass()]),
      tag: headers['x-tag'],
      args: view && { ...view.getArgs<object>() },
    });
    return this.allows || (type === 'http' && !this.refusesHttp);
  }

  ran(): string {
    this.runs++;
    return 'ran';
  }

  reset(): void {
    this.allows = false;
    this.refusesHttp = false;
    this.runs = 0;
    this.seen.length = 0;
  }
}

/** A guard of each kind, all of them reporting to one witness. */
export function guardsOf(witness: Witness): Record<'PlainGuard' | 'ScopedGuard', Type<CanActivate>> {
  @Injectable()
  class PlainGuard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      return witness.judge(context, context.switchToHttp().getRequest());
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class ScopedGuard implements CanActivate {
    constructor(@Inject(REQUEST) private readonly request: unknown) {}

    canActivate(context: ExecutionContext): boolean {
      return witness.judge(context, this.request);
    }
  }
  return { PlainGuard, ScopedGuard };
}

/** Where a guard is put. What is absent stays undecorated. */
export interface Placement {
  readonly onClass?: ClassDecorator;
  readonly onMethod?: MethodDecorator;
  readonly providers?: Provider[];
  readonly configure?: (app: McpStdioApp) => void;
}

export const nothing = (): void => undefined;

export function moduleOf(metadata: Omit<DynamicModule, 'module'>): DynamicModule {
  @Module({})
  class FeatureModule {}
  return { module: FeatureModule, ...metadata };
}

export function rootOf(imports: DynamicModule[], providers: Provider[] = []): Type {
  @Module({ imports: [McpModule.forRoot({ name: 'guarded', version: '1.0.0' }), ...imports], providers })
  class RootModule {}
  return RootModule;
}

type Place = (witness: Witness) => Placement;

/** Guards of the whole application, its endpoint included. */
export const GLOBAL: [string, Place][] = [
  [
    'APP_GUARD as a class',
    (w) => ({ providers: [{ provide: APP_GUARD, useClass: guardsOf(w).PlainGuard }] }),
  ],
  [
    'APP_GUARD as an instance',
    (w) => ({ providers: [{ provide: APP_GUARD, useValue: new (guardsOf(w).PlainGuard)() }] }),
  ],
  [
    'APP_GUARD in request scope',
    (w) => ({ providers: [{ provide: APP_GUARD, useClass: guardsOf(w).ScopedGuard }] }),
  ],
  [
    'useGlobalGuards()',
    (w) => ({ configure: (app) => void app.useGlobalGuards(new (guardsOf(w).PlainGuard)()) }),
  ],
];

/** Guards of one class or method. Nest makes those given as classes where it scans the decorated class itself. */
const LOCAL: [string, Place][] = [
  ['an instance on the class', (w) => ({ onClass: UseGuards(new (guardsOf(w).PlainGuard)()) })],
  ['an instance on the method', (w) => ({ onMethod: UseGuards(new (guardsOf(w).PlainGuard)()) })],
  ['a class on the class', (w) => ({ onClass: UseGuards(guardsOf(w).PlainGuard) })],
  ['a class on the method', (w) => ({ onMethod: UseGuards(guardsOf(w).PlainGuard) })],
  ['a request-scoped class on the class', (w) => ({ onClass: UseGuards(guardsOf(w).ScopedGuard) })],
  ['a request-scoped class on the method', (w) => ({ onMethod: UseGuards(guardsOf(w).ScopedGuard) })],
];

export const PLACEMENTS = [...GLOBAL, ...LOCAL];
