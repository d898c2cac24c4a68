import { FormQuestions } from '../execution/form-questions.js';
import type { McpSettings } from '../mcp.settings.js';
import type { Asking, AskingCall } from '../protocol/asking/asking.js';
import type { CallQuestions } from '../protocol/asking/call-questions.js';
import { LegacyQuestions, WaitingRoom } from '../protocol/asking/legacy-questions.js';
import { ModernRounds } from '../protocol/asking/modern-rounds.js';
import type { Question } from '../protocol/asking/question.js';
import { StateSealer } from '../protocol/asking/state-sealer.js';
import type { McpRevision } from '../protocol/versions.js';

/** How the calls of this server ask their clients, in the way of each era. */
export class ClientAsking implements Asking {
  private readonly forms = new FormQuestions();
  private readonly sealer: StateSealer;
  /** Half of the calls that may run: the others go on. */
  private readonly room: WaitingRoom;

  constructor(private readonly settings: Pick<McpSettings, 'limits' | 'stateKeys' | 'server'>) {
    this.room = new WaitingRoom(Math.ceil(settings.limits.inFlight / 2));
    this.sealer = new StateSealer(settings.stateKeys, settings.limits.stateTime, settings.server.name);
  }

  open(call: AskingCall): CallQuestions {
    const { limits } = this.settings;
    const giveUp = (why: Error) => call.giveUp(why);
    if (call.era === 'legacy')
      return new LegacyQuestions(call, call.lifetime, limits.askTime, limits.rounds, this.room, giveUp);
    const { method, name, params, capabilities } = call;
    const bindingOf = () => ({ caller: call.callerId(), method, name, args: params?.['arguments'] });
    return new ModernRounds(params, capabilities, this.sealer, limits, bindingOf, giveUp);
  }

  form(message: string, form: unknown, revision: McpRevision): Promise<Question> {
    return this.forms.question(message, form, revision);
  }
}
