import { serveMcpOverStdio } from 'nest-mcp';
import { AppModule } from './app.module.js';
import { configureApp } from './app.setup.js';

await serveMcpOverStdio(AppModule, {
  configure: configureApp,
  request: { headers: { authorization: `Bearer ${process.env.HELPDESK_TOKEN ?? 'demo-agent'}` } },
});
