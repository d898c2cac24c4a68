import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { CustomerResources } from './customer.resources.js';
import { CustomerTools } from './customer.tools.js';
import { CustomersController } from './customers.controller.js';
import { CustomersService } from './customers.service.js';

@Module({
  imports: [StoreModule],
  controllers: [CustomersController],
  providers: [CustomersService, CustomerTools, CustomerResources],
  exports: [CustomersService],
})
export class CustomersModule {}
