import { serveMcpOverStdio } from 'nest-mcp';
import { AppModule } from './app.module.js';
import { configureApp } from './app.setup.js';

await serveMcpOverStdio(AppModule, {
  configure: configureApp, // the function that sets global pipes, guards and filters in main.ts
  request: { headers: { authorization: `Bearer ${process.env.HELPDESK_TOKEN ?? 'demo-agent'}` } },
});
