import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMcpRegistry, McpRegistry } from 'nest-mcp';
import type { Subscription } from 'rxjs';
import type { Article } from './article.js';
import { KnowledgeService } from './knowledge.service.js';

export const articleUri = (slug: string) => `kb://articles/${slug}`;

/** Makes each article a resource of its own: those that are there at start, and each one when it is published. */
@Injectable()
export class ArticleResources implements OnModuleInit, OnModuleDestroy {
  private following: Subscription | undefined;

  constructor(
    private readonly knowledge: KnowledgeService,
    @InjectMcpRegistry() private readonly registry: McpRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    this.following = this.knowledge.published.subscribe((article) => void this.add(article));
    await Promise.all(this.knowledge.findAll().map((article) => this.add(article)));
  }

  onModuleDestroy(): void {
    this.following?.unsubscribe();
  }

  private add({ slug, title, body }: Article): Promise<void> {
    return this.registry.addResource(
      {
        uri: articleUri(slug),
        name: slug,
        title,
        description: `From the knowledge base: ${title}`,
        mimeType: 'text/markdown',
        size: Buffer.byteLength(body),
      },
      () => body,
    );
  }
}
