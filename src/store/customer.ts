export type Plan = 'free' | 'team' | 'business';

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly plan: Plan;
  readonly since: string;
}
