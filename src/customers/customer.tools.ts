import { Injectable } from '@nestjs/common';
import { McpTool } from 'nest-mcp';
import { CustomersService } from './customers.service.js';
import { CustomerIdDto } from './dto/customer-id.dto.js';
import { SearchCustomersDto } from './dto/search-customers.dto.js';

@Injectable()
export class CustomerTools {
  constructor(private readonly customers: CustomersService) {}

  @McpTool({
    description:
      'Finds customers by words of their name, company or mail address. Returns one page and the total; ' +
      'without text it lists all customers.',
    readOnly: true,
  })
  searchCustomers(query: SearchCustomersDto) {
    return this.customers.search(query);
  }

  @McpTool({
    description: 'Reads one customer by id (like C-101): name, company, mail address and plan.',
    readOnly: true,
  })
  getCustomer({ id }: CustomerIdDto) {
    return this.customers.get(id);
  }
}
