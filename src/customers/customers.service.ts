import { Injectable, NotFoundException } from '@nestjs/common';
import { type Page, pageOf } from '../common/page.js';
import { matchesText, startingWith } from '../common/text-search.js';
import type { Customer } from '../store/customer.js';
import { CustomersRepository } from '../store/customers.repository.js';
import type { SearchCustomersDto } from './dto/search-customers.dto.js';

@Injectable()
export class CustomersService {
  constructor(private readonly customers: CustomersRepository) {}

  async search(query: SearchCustomersDto): Promise<Page<Customer>> {
    const all = await this.customers.findAll();
    const found = all.filter(({ id, name, email, company }) =>
      matchesText(query.text, [id, name, email, company]),
    );
    return pageOf(found, query);
  }

  async get(id: string): Promise<Customer> {
    const customer = await this.customers.findById(id);
    if (!customer) {
      throw new NotFoundException(`There is no customer ${id}. Search the customers to find the right id.`);
    }
    return customer;
  }

  async idsStartingWith(typed: string): Promise<string[]> {
    const all = await this.customers.findAll();
    return startingWith(
      typed,
      all.map(({ id }) => id),
    );
  }
}
