import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../../cli/base-command.js'
import { parseTokenClaims } from '../../../cli/token-claims.js'

export default class AuthTokenRevoke extends BaseCommand {
  static override summary = 'revoke a token of the local daemon, or end the session of a console tab'
  static override examples = ['<%= config.bin %> auth token revoke 0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e']
  static override args = {
    jti: Args.string({ required: true, description: 'id of the token or session, or the token itself' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(AuthTokenRevoke)
    const jti = parseTokenClaims(args.jti).id ?? args.jti
    const client = await this.client()
    await client.request('DELETE /daemon/tokens/{jti}', { path: { jti } })
    if (this.out.isJson) this.out.json({ jti, revoked: true })
    else this.out.note(`Revoked the token ${jti}.`)
  }
}
