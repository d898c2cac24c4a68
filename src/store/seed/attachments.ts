import type { Attachment } from '../attachment.js';

/** A picture of a phone that shows an error. */
const SCREENSHOT =
  'iVBORw0KGgoAAAANSUhEUgAAADwAAABkBAMAAAAoD07bAAAAD1BMVEUoLDT///8mY77Q1uDNNDT7rvMwAAAAeElEQVR42u3UUQrAIAgG4Jo' +
  'XqBuMnSDwCrv/mfY0jKGFm7Gx/KGnDzKUDGFolk3M6ixxzGLS64yI7HFu8bQTK9xaAOKdySc4J44jMddwI8bCMdSMl+i4c7mitp6f1W6w' +
  'oufntjXj+mnEcIPN29L7gpNuRWfnH/DAHDPPCMJrS5EvAAAAAElFTkSuQmCC';

const CRASH_LOG = `2026-04-07T06:12:41.118Z INFO  calendar opened, 214 entries
2026-04-07T06:12:41.402Z ERROR RangeError: Invalid time zone specified: Europe/Kyiv_
2026-04-07T06:12:41.403Z ERROR   at Calendar.render (calendar.bundle.js:1:88213)
2026-04-07T06:12:41.407Z FATAL the app is closing
`;

const ORDERS = `order,name,total
6797,Hoffmann Optik,129.00
6798,Reyes; Sons,54.50
6799,Minato Design,310.20
`;

export function seedAttachments(): Attachment[] {
  return [
    {
      ticketId: 'T-1156',
      name: 'screenshot.png',
      mimeType: 'image/png',
      bytes: Buffer.from(SCREENSHOT, 'base64'),
    },
    { ticketId: 'T-1156', name: 'crash.log', mimeType: 'text/plain', bytes: Buffer.from(CRASH_LOG) },
    { ticketId: 'T-1289', name: 'orders.csv', mimeType: 'text/csv', bytes: Buffer.from(ORDERS) },
  ];
}
