import { Injectable } from '@nestjs/common';
import type { Customer } from './customer.js';
import { seedCustomers } from './seed/customers.js';

@Injectable()
export class CustomersRepository {
  private readonly customers = new Map(seedCustomers().map((customer) => [customer.id, customer]));

  async findAll(): Promise<Customer[]> {
    return [...this.customers.values()];
  }

  async findById(id: string): Promise<Customer | undefined> {
    return this.customers.get(id);
  }
}
