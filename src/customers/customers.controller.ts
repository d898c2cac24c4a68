import { Controller, Get, Param, Query } from '@nestjs/common';
import { CustomersService } from './customers.service.js';
import { CustomerIdDto } from './dto/customer-id.dto.js';
import { SearchCustomersDto } from './dto/search-customers.dto.js';

@Controller('customers')
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @Get()
  search(@Query() query: SearchCustomersDto) {
    return this.customers.search(query);
  }

  @Get(':id')
  get(@Param() { id }: CustomerIdDto) {
    return this.customers.get(id);
  }
}
