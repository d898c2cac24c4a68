const swc = {
  swcrc: false,
  sourceMaps: 'inline',
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
};

const project = (displayName, roots, testRegex) => ({
  displayName,
  roots,
  testRegex,
  testEnvironment: '<rootDir>/test/support/environment.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: {
    '^nest-mcp$': '<rootDir>/libs/mcp/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/libs/mcp/dist'],
});

export default {
  // Every core: a run that leaves one free takes twice as long on a machine of two.
  maxWorkers: '100%',
  // What a file has loaded is never let go of: a worker that is full of it spends its time collecting garbage.
  workerIdleMemoryLimit: '500MB',
  // Whatever hangs is found all the same; whatever only waits for its turn on a busy machine is none.
  testTimeout: 20_000,
  projects: [
    project('unit', ['<rootDir>/src', '<rootDir>/libs'], '\\.spec\\.ts$'),
    project('e2e', ['<rootDir>/test'], '\\.e2e-spec\\.ts$'),
  ],
  coverageProvider: 'babel',
  collectCoverageFrom: [
    'src/**/*.ts',
    'libs/*/src/**/*.ts',
    '!**/*.spec.ts',
    '!src/main*.ts',
    '!**/index.ts',
  ],
  coverageReporters: ['text-summary', 'lcov'],
};
