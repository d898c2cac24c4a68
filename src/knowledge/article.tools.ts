import { Injectable } from '@nestjs/common';
import { content, McpTool } from 'nest-mcp';
import { Roles } from '../auth/roles.decorator.js';
import { articleUri } from './article.resources.js';
import { PublishArticleDto } from './dto/publish-article.dto.js';
import { KnowledgeService } from './knowledge.service.js';

@Injectable()
export class ArticleTools {
  constructor(private readonly knowledge: KnowledgeService) {}

  @McpTool({
    description: 'Publishes an article in the knowledge base. All of the team can read it at once.',
    annotations: { destructiveHint: false },
  })
  @Roles('agent', 'admin')
  publishArticle(args: PublishArticleDto) {
    const { slug, title } = this.knowledge.publish(args);
    return content.link(articleUri(slug), slug, { title, mimeType: 'text/markdown' });
  }
}
