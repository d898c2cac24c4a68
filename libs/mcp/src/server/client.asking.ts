import { FormQuestions } from '../execution/form-questions.js';
import type { McpSettings } from '../mcp.settings.js';
import type { Asking, AskingCall } from '../protocol/asking/asking.js';
import type { CallQuestions } from '../protocol/asking/call-questions.js';
import { LegacyQuestions } from '../protocol/asking/legacy-questions.js';
import { ModernRounds } from '../protocol/asking/modern-rounds.js';
import type { Question } from '../protocol/asking/question.js';
import { StateSealer } from '../protocol/asking/state-sealer.js';
import type { McpRevision } from '../protocol/versions.js';

/** How the calls of this server ask their clients, in the way of each era. */
export class ClientAsking implements Asking {
  private readonly forms = new FormQuestions();
  private readonly sealer: StateSealer;

  constructor(private readonly settings: Pick<McpSettings, 'limits' | 'stateKeys' | 'server'>) {
    this.sealer = new StateSealer(settings.stateKeys, settings.limits.stateTime, settings.server.name);
  }

  open(call: AskingCall): CallQuestions {
    const { limits } = this.settings;
    if (call.era === 'legacy') return new LegacyQuestions(call, call.lifetime, limits.askTime, limits.rounds);
    const { method, name, params, capabilities } = call;
    return new ModernRounds(params, capabilities, this.sealer, limits, () => ({
      caller: call.callerId(),
      method,
      name,
      args: params?.['arguments'],
    }));
  }

  form(message: string, form: unknown, revision: McpRevision): Promise<Question> {
    return this.forms.question(message, form, revision);
  }
}
