import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { McpResource } from 'nest-mcp';
import { PNG } from './sample.files.js';

class TemplateParams {
  @IsString()
  id!: string;
}

/** The resources that the official suite reads; the first that is listed is read for its cache hints. */
@Injectable()
export class ConformanceResources {
  @McpResource({ uri: 'test://static-text', description: 'A text', mimeType: 'text/plain' })
  staticText(): string {
    return 'This is the content of the static text resource.';
  }

  @McpResource({ uri: 'test://static-binary', description: 'A picture', mimeType: 'image/png' })
  staticBinary(): Buffer {
    return PNG;
  }

  @McpResource({ uri: 'test://watched-resource', description: 'To subscribe to', mimeType: 'text/plain' })
  watched(): string {
    return 'This is the content of the watched resource.';
  }

  @McpResource({
    uri: 'test://template/{id}/data',
    description: 'Data by its id',
    mimeType: 'application/json',
  })
  data({ id }: TemplateParams): object {
    return { id, templateTest: true, data: `Data for ID: ${id}` };
  }
}
