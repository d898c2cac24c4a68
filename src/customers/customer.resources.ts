import { Injectable } from '@nestjs/common';
import { McpCompletion, McpResource } from 'nest-mcp';
import { CustomersService } from './customers.service.js';
import { CustomerIdDto } from './dto/customer-id.dto.js';

@Injectable()
export class CustomerResources {
  constructor(private readonly customers: CustomersService) {}

  @McpResource({
    uri: 'customer://{id}',
    title: 'Customer',
    description: 'One customer by id (like C-101): name, company, mail address and plan',
    mimeType: 'application/json',
  })
  customer({ id }: CustomerIdDto) {
    return this.customers.get(id);
  }

  @McpCompletion({ resource: 'customer://{id}', argument: 'id' })
  customerIds(typed: string) {
    return this.customers.idsStartingWith(typed);
  }
}
