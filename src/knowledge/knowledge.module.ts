import { Module } from '@nestjs/common';
import { ArticleResources } from './article.resources.js';
import { ArticleTools } from './article.tools.js';
import { ArticlesController } from './articles.controller.js';
import { KnowledgeService } from './knowledge.service.js';

@Module({
  controllers: [ArticlesController],
  providers: [KnowledgeService, ArticleTools, ArticleResources],
})
export class KnowledgeModule {}
