declare module 'class-transformer/cjs/TransformOperationExecutor.js' {
  export { TransformOperationExecutor } from 'class-transformer/types/TransformOperationExecutor.js';
}
