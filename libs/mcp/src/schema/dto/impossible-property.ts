import type { PropertyFacts } from '../metadata/property-facts.js';
import {
  ArrayRuleOnSetException,
  CollectionWithoutTypeException,
  DateWithoutTypeException,
} from '../schema.exception.js';
import { keywordsOf, ruleName } from './rule-reading.js';

/** Refuses what class-transformer and class-validator together can only refuse, or would fill with something else. */
export function refuseImpossible({
  dto,
  name,
  rules,
  declared,
  design,
  type,
  swagger,
  view,
  hasTransform,
}: PropertyFacts): void {
  if (view.direction === 'output' || hasTransform) return;
  const types = view.typedOnly ? [declared] : [declared, design, swagger?.type];
  const isMadeDate = types.some((one) => (one as unknown) === Date);
  const isDate = rules.some(
    (rule) => ['isDate', 'minDate', 'maxDate'].includes(ruleName(rule)) && !rule.validateIf,
  );
  if (isDate && !isMadeDate) throw new DateWithoutTypeException(dto, name);
  if (!type && (design as unknown) === Map) throw new CollectionWithoutTypeException(dto, name, 'Map');
  if ((design as unknown) !== Set) return;
  if (!type) throw new CollectionWithoutTypeException(dto, name, 'Set');
  const arrayRule = rules.find((rule) => !rule.each && keywordsOf(rule).type === 'array');
  if (arrayRule) throw new ArrayRuleOnSetException(dto, name, ruleName(arrayRule));
}
