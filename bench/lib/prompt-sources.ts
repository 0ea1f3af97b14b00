const SOURCE = /<source (\d+)>\n(?:(?:File|Document|Section|Date): .*\n)*\n?([\s\S]*?)(?: …)?\n<\/source \d+>/g

/** The passages of a prompt, without their headers, and its question. */
export function readPrompt(prompt: string): { sources: { number: number; text: string }[]; question: string } {
  const sources = [...prompt.matchAll(SOURCE)].map(([, number, text = '']) => ({ number: Number(number), text }))
  return { sources, question: prompt.split('\n\nQuestion: ').at(-1) ?? '' }
}
