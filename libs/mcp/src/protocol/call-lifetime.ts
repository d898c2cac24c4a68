/** Why a call ended before its handler did. */
export type EndReason = 'cancelled' | 'disconnected' | 'timeout' | 'shutdown' | 'stuck';

const REASON_TEXT: Record<EndReason, string> = {
  cancelled: 'The client cancelled the call',
  disconnected: 'The client closed the connection',
  timeout: 'The call ran into its time limit',
  shutdown: 'The server is shutting down',
  stuck: 'The call waits for its client, or asks in vain without end',
};

/**
 * The span of one call: open until its answer is known, or until something ends it early. The abort
 * signal is made only for a handler that asks for it.
 */
export class CallLifetime {
  private controller: AbortController | undefined;
  private reason: EndReason | undefined;
  private finished = false;

  private overController: AbortController | undefined;
  private pauses = 0;

  /** Told when the time limit stops, and when it goes on. */
  onPause: ((isPaused: boolean) => void) | undefined;

  /** Called once, when the call ends before its handler does. */
  onEnd: ((reason: EndReason) => void) | undefined;

  /** Whether messages may still be sent for this call. */
  get isOpen(): boolean {
    return !this.finished && this.reason === undefined;
  }

  /** What ended the call early, if anything did. */
  get endReason(): EndReason | undefined {
    return this.reason;
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.reason) this.controller.abort(abortError(this.reason));
    }
    return this.controller.signal;
  }

  /** Aborts when the call is over, however it came out. */
  get over(): AbortSignal {
    if (!this.overController) {
      this.overController = new AbortController();
      if (!this.isOpen) this.overController.abort();
    }
    return this.overController.signal;
  }

  get isPaused(): boolean {
    return this.pauses > 0;
  }

  /** The time limit stands still until what this gives is called; several may do so at once. */
  pause(): () => void {
    if (++this.pauses === 1) this.onPause?.(true);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.pauses === 0) this.onPause?.(false);
    };
  }

  /** Ends the call early: its signal aborts, and nothing more is sent for it. */
  end(reason: EndReason): void {
    if (!this.isOpen) return;
    this.reason = reason;
    this.controller?.abort(abortError(reason));
    this.overController?.abort();
    this.onEnd?.(reason);
  }

  /** The answer is known: nothing may follow it. */
  finish(): void {
    this.finished = true;
    this.overController?.abort();
  }
}

function abortError(reason: EndReason): DOMException {
  return new DOMException(REASON_TEXT[reason], reason === 'timeout' ? 'TimeoutError' : 'AbortError');
}
