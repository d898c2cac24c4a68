import { Body, Controller, Get, Post } from '@nestjs/common';
import { Roles } from '../auth/roles.decorator.js';
import { PublishArticleDto } from './dto/publish-article.dto.js';
import { KnowledgeService } from './knowledge.service.js';

@Controller('articles')
export class ArticlesController {
  constructor(private readonly knowledge: KnowledgeService) {}

  @Get()
  list() {
    return this.knowledge.findAll().map(({ slug, title }) => ({ slug, title }));
  }

  @Post()
  @Roles('agent', 'admin')
  publish(@Body() article: PublishArticleDto) {
    return this.knowledge.publish(article);
  }
}
