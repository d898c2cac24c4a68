import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { BearerGuard } from './bearer.guard.js';
import { RolesGuard } from './roles.guard.js';
import { TokensService } from './tokens.service.js';

/** The guards apply to every route and every tool; RolesGuard relies on BearerGuard having run before it. */
@Module({
  providers: [
    { provide: TokensService, useFactory: () => new TokensService(process.env) },
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: RolesGuard },
  ],
})
export class AuthModule {}
