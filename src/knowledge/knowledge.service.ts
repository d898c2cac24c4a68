import { BadRequestException, ConflictException, Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import type { Article } from './article.js';
import type { PublishArticleDto } from './dto/publish-article.dto.js';
import { SEED_ARTICLES } from './seed-articles.js';

@Injectable()
export class KnowledgeService {
  private readonly articles = new Map(SEED_ARTICLES.map((article) => [article.slug, article]));
  private readonly additions = new Subject<Article>();
  readonly published = this.additions.asObservable();

  findAll(): Article[] {
    return [...this.articles.values()];
  }

  publish({ title, body }: PublishArticleDto): Article {
    const slug = slugOf(title);
    if (slug === '') {
      throw new BadRequestException('The title needs at least one letter or digit');
    }
    if (this.articles.has(slug)) {
      throw new ConflictException(`There is an article ${slug} already`);
    }
    const article = { slug, title, body };
    this.articles.set(slug, article);
    this.additions.next(article);
    return article;
  }
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
