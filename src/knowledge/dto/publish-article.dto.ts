import { IsString, Length } from 'class-validator';
import { McpProperty } from 'nest-mcp';

export class PublishArticleDto {
  @IsString()
  @Length(3, 80)
  title: string;

  @IsString()
  @Length(1, 20_000)
  @McpProperty({ description: 'The article, in Markdown' })
  body: string;
}
