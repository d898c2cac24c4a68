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
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: {
    '^nest-mcp$': '<rootDir>/libs/mcp/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/libs/mcp/dist'],
});

export default {
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
