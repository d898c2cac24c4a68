import { statusOf } from './status-map.js';

const outcome = (code?: number, busy = false) => ({
  message: '{}',
  error: code === undefined ? undefined : { code, message: '' },
  busy,
});

describe('statusOf', () => {
  it.each([
    [undefined, 200, 200],
    [-32601, 404, 200],
    [-32602, 200, 200],
    [-32603, 200, 200],
    [-32600, 200, 200],
    [-32020, 400, 200],
    [-32021, 400, 200],
    [-32022, 400, 200],
    [4001, 200, 200],
  ])(
    'S-013, S-019, S-059: of the error %p is %d in the modern era, %d in the legacy one',
    (code, modern, legacy) => {
      expect(statusOf(outcome(code), 'modern')).toBe(modern);
      expect(statusOf(outcome(code), 'legacy')).toBe(legacy);
    },
  );

  it('is 503 in both eras for lack of room', () => {
    expect([statusOf(outcome(-32600, true), 'modern'), statusOf(outcome(-32600, true), 'legacy')]).toEqual([
      503, 503,
    ]);
  });
});
