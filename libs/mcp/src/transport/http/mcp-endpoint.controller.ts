import { All, Controller, Inject, Req, Res, UseFilters, VERSION_NEUTRAL, type Type } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { ENDPOINT_METADATA } from '../../decorators/metadata-keys.js';
import { normalisePath } from '../../settings/addresses.js';
import { EndpointExceptionFilter } from './endpoint-exception.filter.js';
import type { FastifyReply, FrameworkRequest } from './http-exchange.js';
import { HttpTransport } from './http.transport.js';

/**
 * The endpoint as a real Nest controller, so that the application's guards, middleware, prefix and CORS
 * apply. A class of its own for each server: the path and the application's decorators sit on it.
 */
export function createEndpointController(path: string, decorators: readonly ClassDecorator[]): Type {
  @Controller({ path: normalisePath(path), version: VERSION_NEUTRAL })
  @UseFilters(EndpointExceptionFilter)
  class McpEndpointController {
    constructor(@Inject(HttpTransport) private readonly transport: HttpTransport) {}

    @All()
    handle(@Req() request: FrameworkRequest, @Res() response: ServerResponse | FastifyReply): Promise<void> {
      return this.transport.handle(request, response);
    }
  }
  // eslint-disable-next-line typescript/unbound-method -- metadata is put on the function itself
  Reflect.defineMetadata(ENDPOINT_METADATA, true, McpEndpointController.prototype.handle);
  decorate(McpEndpointController, decorators);
  return McpEndpointController;
}

/** Puts the application's decorators on the endpoint. */
export function decorate(endpoint: Type, decorators: readonly ClassDecorator[]): void {
  for (const decorator of decorators) decorator(endpoint);
}

/**
 * Takes everything off the endpoint that was not there when this was called: a module that is started a
 * second time, as in tests, begins without the decorators of the first.
 */
export function undecorator(endpoint: Type): () => void {
  const own = new Map(metadataOf(endpoint));
  return () => {
    for (const [key] of metadataOf(endpoint)) Reflect.deleteMetadata(key, endpoint);
    for (const [key, value] of own) Reflect.defineMetadata(key, value, endpoint);
  };
}

function metadataOf(endpoint: Type): [unknown, unknown][] {
  return Reflect.getOwnMetadataKeys(endpoint).map((key: unknown) => [
    key,
    Reflect.getOwnMetadata(key, endpoint),
  ]);
}
