import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'isPublic';

/** Lets callers without a token in. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
