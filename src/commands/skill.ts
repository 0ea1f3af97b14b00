import { BaseCommand } from '../cli/base-command.js'
import { SKILL } from '../cli/skill.js'

export default class Skill extends BaseCommand {
  static override summary = 'print short instructions for agents on the use of `ks`'
  static override description = 'For agents with a shell and without MCP. Includes the front matter of a skill.'
  static override examples = ['<%= config.bin %> skill > SKILL.md']

  async run(): Promise<void> {
    await this.parse(Skill)
    if (this.out.isJson) this.out.json({ text: SKILL })
    else this.out.text(SKILL)
  }
}
