import { NestFactory } from '@nestjs/core';
import { McpRegistry } from 'nest-mcp';
import { AppModule } from './app.module.js';
import { configureApp } from './app.setup.js';
import { startupBanner } from './startup-banner.js';

const host = process.env.HOST ?? '127.0.0.1';
const port = Number(process.env.PORT ?? 3000);

const app = await NestFactory.create(AppModule);
configureApp(app);
app.enableShutdownHooks();

try {
  await app.listen(port, host);
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
    throw error;
  }
  process.stderr.write(`Port ${port} is taken on ${host}: set PORT to another one\n`);
  process.exit(1);
}

const url = (await app.getUrl()).replace('127.0.0.1', 'localhost');
process.stdout.write(startupBanner({ url, exposed: app.get(McpRegistry).describe() }));
