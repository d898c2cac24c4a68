import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { AppModule } from '../../src/app.module.js';
import { configureApp } from '../../src/app.setup.js';

describe('Helpdesk REST API', () => {
  let app: INestApplication<Server>;

  beforeEach(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    configureApp(app);
    await app.init();
  });

  afterEach(() => app.close());

  const as = (role: 'viewer' | 'agent' | 'admin') =>
    request.agent(app.getHttpServer()).set('Authorization', `Bearer demo-${role}`);

  async function firstTicket(status: string): Promise<string> {
    const { body } = await as('viewer').get('/tickets').query({ status, limit: 1 }).expect(200);
    return body.items[0].id;
  }

  it('answers GET /health without a token', () =>
    request(app.getHttpServer()).get('/health').expect(200, { status: 'ok' }));

  describe('authentication', () => {
    it.each([undefined, 'Basic ZGVtbw==', 'Bearer', 'Bearer nobody'])(
      'refuses Authorization: %s',
      async (value) => {
        const call = request(app.getHttpServer()).get('/tickets');
        const response = await (value ? call.set('Authorization', value) : call).expect(401);
        expect(response.headers['www-authenticate']).toBe('Bearer');
      },
    );

    it.each(['bearer demo-viewer', 'Bearer  demo-viewer'])('accepts Authorization: %s', (value) =>
      request(app.getHttpServer()).get('/tickets').set('Authorization', value).expect(200),
    );
  });

  describe('GET /customers', () => {
    it('finds customers by text', async () => {
      const { body } = await as('viewer').get('/customers').query({ text: 'lantern yifan' }).expect(200);
      expect(body).toMatchObject({ total: 1, items: [{ name: 'Chen Yifan', company: 'Lantern Robotics' }] });
    });

    it('reads one', async () => {
      const { body } = await as('viewer').get('/customers/C-101').expect(200);
      expect(body).toMatchObject({ id: 'C-101', name: 'Amara Okafor', email: expect.stringContaining('@') });
    });

    it('answers 404 and 400 for an id that is unknown or malformed', async () => {
      const { body } = await as('viewer').get('/customers/C-999').expect(404);
      expect(body.message).toMatch(/no customer C-999/);
      await as('viewer').get('/customers/nobody').expect(400);
    });
  });

  describe('GET /tickets', () => {
    it('returns the first page, the latest updated first', async () => {
      const { body } = await as('viewer').get('/tickets').expect(200);
      expect(body).toMatchObject({ total: 300, limit: 20, offset: 0 });
      expect(body.items).toHaveLength(20);
      const updated: string[] = body.items.map((ticket: { updatedAt: string }) => ticket.updatedAt);
      expect(updated).toEqual(updated.toSorted().reverse());
    });

    it('pages without gaps', async () => {
      const ids = async (limit: number, offset: number) => {
        const { body } = await as('viewer').get('/tickets').query({ limit, offset }).expect(200);
        return body.items.map((ticket: { id: string }) => ticket.id);
      };
      expect([...(await ids(3, 0)), ...(await ids(3, 3))]).toEqual(await ids(6, 0));
      expect(await ids(100, 290)).toHaveLength(10);
      expect(await ids(10, 300)).toEqual([]);
    });

    it('narrows by all filters together', async () => {
      const { body: ticket } = await as('viewer').get('/tickets/T-1001').expect(200);
      const { id, subject, status, priority, customerId, assignee } = ticket;
      const filter = { text: subject, status, priority, customerId, assignee: assignee.toLowerCase() };
      const { body } = await as('viewer').get('/tickets').query(filter).expect(200);
      expect(body.items).toContainEqual(expect.objectContaining({ id }));
      for (const item of body.items) {
        expect(item).toMatchObject({ status, priority, customerId, assignee });
      }
      expect(body.total).toBeLessThan(300);
    });

    it.each(['status=lost', 'limit=0', 'limit=101', 'limit=ten', 'offset=-1', 'limit=1.5', 'colour=red'])(
      'refuses ?%s by name',
      async (query) => {
        const { body } = await as('viewer').get(`/tickets?${query}`).expect(400);
        expect(body.message.join()).toContain(query.split('=')[0]);
      },
    );
  });

  describe('GET /tickets/:id', () => {
    it('reads a ticket with its comments and its customer', async () => {
      const { body } = await as('viewer').get('/tickets/T-1001').expect(200);
      expect(body).toMatchObject({ id: 'T-1001', customer: { id: body.customerId } });
      expect(body.comments).toBeInstanceOf(Array);
    });

    it('answers 404 and 400 for an id that is unknown or malformed', async () => {
      const { body } = await as('viewer').get('/tickets/T-9999').expect(404);
      expect(body.message).toMatch(/no ticket T-9999/);
      await as('viewer').get('/tickets/1001').expect(400);
    });
  });

  describe('POST /tickets/:id/comments', () => {
    it('adds a comment in the name of the caller', async () => {
      const before = await as('agent').get('/tickets/T-1010').expect(200);
      const added = await as('agent').post('/tickets/T-1010/comments').send({ body: 'On it' }).expect(201);
      expect(added.body).toMatchObject({ author: 'Maya', body: 'On it', internal: false });
      const after = await as('agent').get('/tickets/T-1010').expect(200);
      expect(after.body.comments).toEqual([...before.body.comments, added.body]);
      expect(after.body.updatedAt).toBe(added.body.createdAt);
    });

    it('keeps comments that arrive at the same time', async () => {
      const before = await as('agent').get('/tickets/T-1010').expect(200);
      const bodies = ['one', 'two', 'three', 'four'];
      await Promise.all(
        bodies.map((body) => as('admin').post('/tickets/T-1010/comments').send({ body }).expect(201)),
      );
      const { comments } = (await as('agent').get('/tickets/T-1010').expect(200)).body;
      const added = comments.slice(before.body.comments.length);
      expect(added.map((comment: { body: string }) => comment.body).sort()).toEqual([...bodies].sort());
    });

    it.each([
      {},
      { body: '' },
      { body: 'x'.repeat(2001) },
      { body: 'x', internal: 'no' },
      { body: 'x', by: 'me' },
    ])('refuses a bad body (%#)', (body) =>
      as('agent').post('/tickets/T-1010/comments').send(body).expect(400),
    );

    it('is not for viewers', async () => {
      const { body } = await as('viewer').post('/tickets/T-1010/comments').send({ body: 'x' }).expect(403);
      expect(body.message).toBe('This needs the role agent or admin');
    });
  });

  describe('POST /tickets/:id/close', () => {
    it('closes once; the same again changes nothing, another resolution is refused', async () => {
      const id = await firstTicket('open');
      const close = (resolution: string) => as('agent').post(`/tickets/${id}/close`).send({ resolution });
      const { body } = await close('Solved by phone').expect(200);
      expect(body).toMatchObject({ id, status: 'closed', resolution: 'Solved by phone' });
      await close('Solved by phone').expect(200, body);
      const refused = await close('Gave up').expect(409);
      expect(refused.body.message).toContain('Solved by phone');
    });

    it('answers 400 without a resolution, 404 for an unknown ticket, 403 for a viewer', async () => {
      await as('agent').post('/tickets/T-1010/close').send({}).expect(400);
      await as('agent').post('/tickets/T-9999/close').send({ resolution: 'x' }).expect(404);
      await as('viewer').post('/tickets/T-1010/close').send({ resolution: 'x' }).expect(403);
    });
  });

  describe('DELETE /tickets/:id', () => {
    it('is for admins only, and for good', async () => {
      await as('viewer').delete('/tickets/T-1020').expect(403);
      await as('agent').delete('/tickets/T-1020').expect(403);
      await as('admin').delete('/tickets/T-1020').expect(204);
      await as('viewer').get('/tickets/T-1020').expect(404);
      await as('admin').delete('/tickets/T-1020').expect(404);
    });
  });
});
