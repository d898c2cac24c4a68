import {
  All,
  Controller,
  Inject,
  Req,
  Res,
  SetMetadata,
  UseFilters,
  VERSION_NEUTRAL,
  type Type,
} from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { ENDPOINT_METADATA } from '../../decorators/metadata-keys.js';
import type { SsePaths } from '../../settings/addresses.js';
import { EndpointExceptionFilter } from '../http/endpoint-exception.filter.js';
import type { FastifyReply, FrameworkRequest } from '../http/http-exchange.js';
import { decorate } from '../http/mcp-endpoint.controller.js';
import { SseTransport } from './sse.transport.js';

/** The two routes of HTTP+SSE as a real Nest controller, as the endpoint is one: a class of its own for each server. */
export function createSseController(paths: SsePaths, decorators: readonly ClassDecorator[]): Type {
  @Controller({ version: VERSION_NEUTRAL })
  @UseFilters(EndpointExceptionFilter)
  class McpSseController {
    constructor(@Inject(SseTransport) private readonly transport: SseTransport) {}

    @All(paths.path)
    @SetMetadata(ENDPOINT_METADATA, true)
    open(@Req() request: FrameworkRequest, @Res() response: ServerResponse | FastifyReply): Promise<void> {
      return this.transport.open(request, response, paths);
    }

    @All(paths.messagesPath)
    @SetMetadata(ENDPOINT_METADATA, true)
    receive(@Req() request: FrameworkRequest, @Res() response: ServerResponse | FastifyReply): Promise<void> {
      return this.transport.receive(request, response);
    }
  }
  decorate(McpSseController, decorators);
  return McpSseController;
}
