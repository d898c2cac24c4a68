import { type PipeTransform, ValidationPipe } from '@nestjs/common';

interface ConfigurableApp {
  useGlobalPipes(...pipes: PipeTransform[]): unknown;
}

/** What every entry file sets on the app, whichever transport it serves. */
export function configureApp(app: ConfigurableApp): void {
  app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
}
