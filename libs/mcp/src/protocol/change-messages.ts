import type { McpChange } from './changes.js';
import { notificationMessage, type RequestId } from './json-rpc.js';
import { META_SUBSCRIPTION } from './request-meta.js';

/**
 * The notification of a change: as a legacy client knows it, or with the subscription that it belongs to.
 * Source: List Changed Notification of each feature; Subscriptions, 2026-07-28.
 */
export function changeMessage(change: McpChange, subscription?: RequestId): string {
  const meta = subscription && `"_meta":{"${META_SUBSCRIPTION}":${subscription.text}}`;
  if (change.kind === 'list')
    return notificationMessage(`notifications/${change.list}/list_changed`, meta && `{${meta}}`);
  const members = [`"uri":${JSON.stringify(change.uri)}`, ...(meta ? [meta] : [])];
  return notificationMessage('notifications/resources/updated', `{${members.join(',')}}`);
}
