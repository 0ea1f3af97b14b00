import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server'
import { ToolError } from './failure.js'

interface PromptDefinition extends Prompt {
  buildText(args: Readonly<Record<string, string>>): string
}

const CITATION_RULES =
  'Cite every statement with the document, its section or page, and the ks:// address. Where nothing was found, state that and what was searched for, not that the documents lack it; tell it apart from what an index that is not current may hide.'

const spaceArgument = { name: 'space', description: 'slug of the space; optional if there is only one' }
const formatSpaceSuffix = ({ space: name }: Readonly<Record<string, string>>) => (name ? ` in the space "${name}"` : '')

const PROMPTS: readonly PromptDefinition[] = [
  {
    name: 'ask_with_citations',
    title: 'Ask with citations',
    description: 'Answer a question from the documents of a space, with a citation for each statement.',
    arguments: [{ name: 'question', description: 'question to answer', required: true }, spaceArgument],
    buildText: (args) =>
      `Answer this question from the documents${formatSpaceSuffix(args)} alone: ${args.question}\n\nCall \`ask\` first; check what it cites with \`read\`, and look for more with \`search\`. ${CITATION_RULES}`,
  },
  {
    name: 'compare_documents',
    title: 'Compare documents',
    description: 'Compare two documents: what they have in common, and how they differ.',
    arguments: [
      { name: 'first', description: 'a document: filename, path or ks:// address', required: true },
      { name: 'second', description: 'another document', required: true },
      { name: 'about', description: 'aspect to compare; default: everything' },
      spaceArgument,
    ],
    buildText: (args) =>
      `Compare the documents "${args.first}" and "${args.second}"${formatSpaceSuffix(args)}${args.about ? ` in this: ${args.about}` : ''}.\n\nLook at both with \`outline\`, then \`read\` the sections that bear on each other, or \`search\` with \`documents\` set to both. Give a table: the point, what the first says, what the second says. ${CITATION_RULES}`,
  },
  {
    name: 'find_contradictions',
    title: 'Find contradictions',
    description: 'Find statements in the documents that contradict each other.',
    arguments: [{ name: 'topic', description: 'topic of the statements', required: true }, spaceArgument],
    buildText: (args) =>
      `Find statements on "${args.topic}" that contradict each other in the documents${formatSpaceSuffix(args)}.\n\nCall \`ask\` and look at its state and conflicts; then \`search\` with several wordings and compare what the passages say of numbers, dates, names and duties. For each contradiction give both statements in their own words, which is newer, and what may explain it. Say it where you find none. ${CITATION_RULES}`,
  },
  {
    name: 'write_report',
    title: 'Write a report',
    description: 'Write a report on a topic from the documents, with sources.',
    arguments: [
      { name: 'topic', description: 'topic of the report', required: true },
      { name: 'length', description: 'length, for example "two pages"' },
      spaceArgument,
    ],
    buildText: (args) =>
      `Write a report on "${args.topic}" from the documents${formatSpaceSuffix(args)}${args.length ? `, ${args.length} long` : ''}.\n\nStart \`research\` and follow it with \`research_status\`; fill gaps with \`search\` and \`read\`. Begin with the answer, then sections, then what stayed open. You may keep the report with \`write\` below /workspaces. ${CITATION_RULES}`,
  },
]

export function listPrompts(): Prompt[] {
  return PROMPTS.map(({ buildText: _, ...prompt }) => prompt)
}

/** @throws ToolError for an unknown name or a missing argument */
export function getPrompt(name: string, args: Readonly<Record<string, string>> = {}): GetPromptResult {
  const prompt = PROMPTS.find((candidate) => candidate.name === name)
  if (prompt === undefined)
    throw new ToolError(
      'not-found',
      `no prompt ${JSON.stringify(name)} here`,
      PROMPTS.map((known) => known.name).join(', '),
    )
  const missing = prompt.arguments?.find((argument) => argument.required === true && !args[argument.name]?.trim())
  if (missing !== undefined)
    throw new ToolError('invalid-request', `${missing.name} is required`, missing.description ?? '')
  return {
    ...(prompt.description === undefined ? {} : { description: prompt.description }),
    messages: [{ role: 'user', content: { type: 'text', text: prompt.buildText(args) } }],
  }
}
