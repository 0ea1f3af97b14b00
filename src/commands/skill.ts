import { BaseCommand } from '../cli/base-command.js'
import { SKILL } from '../cli/skill.js'

export default class Skill extends BaseCommand {
  static override summary = 'print a short text that tells an agent how to use `ks` on the command line'
  static override description = 'For agents with a shell and without MCP. It has the front matter that skills have.'
  static override examples = ['<%= config.bin %> skill > SKILL.md']

  async run(): Promise<void> {
    await this.parse(Skill)
    if (this.out.isJson) this.out.json({ text: SKILL })
    else this.out.text(SKILL)
  }
}
