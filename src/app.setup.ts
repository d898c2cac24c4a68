import { ValidationPipe, type INestApplication } from '@nestjs/common';

/** What every entry file sets on the app, whichever transport it serves. */
export function configureApp(app: INestApplication): void {
  app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
}
