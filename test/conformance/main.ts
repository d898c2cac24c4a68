import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ConformanceModule } from './conformance.module.js';

const [adapter = 'express'] = process.argv.slice(2);
const app = await NestFactory.create(
  ConformanceModule,
  adapter === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
  { logger: false },
);
await app.listen(0, '127.0.0.1');
const { port } = (app.getHttpServer() as { address(): { port: number } }).address();
process.stdout.write(`http://localhost:${port}/mcp\n`);
