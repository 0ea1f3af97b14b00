import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { parseOverviewRequest } from '../../../src/lib/text/overview-request.js'

const QUESTIONS = new URL('../../engine/retrieval/query/recorded/questions.txt', import.meta.url)

test.each([
  'What can you do?',
  'what is in here?',
  'What do you know?',
  'help',
  'Who are you?',
  'Which documents do you have?',
  'How many documents are there?',
  'Was kannst du?',
  'Welche Dokumente gibt es?',
  'Que peux-tu faire ?',
  '¿Qué documentos hay?',
  'Summarize all documents',
])('the message %j asks about the collection', (message) => {
  expect(parseOverviewRequest(message)).toEqual({ kind: 'contents' })
})

test.each([
  ['summarise project Atlas', 'project Atlas'],
  ['Can you give me a short overview of the onboarding?', 'the onboarding'],
  ['Fasse das Projekt Atlas zusammen.', 'das Projekt Atlas'],
  ['Résume le projet Atlas', 'le projet Atlas'],
])('the message %j asks for a summary of %j', (message, subject) => {
  expect(parseOverviewRequest(message)).toEqual({ kind: 'summary', subject })
})

describe('a question of fact', () => {
  it.each([
    'What is a document?',
    'How do I list documents?',
    'Where are you?',
    'What do you sell?',
    'Which files does the backup contain?',
    'When are you open?',
  ])('keeps its meaning although it names documents or addresses somebody: %j', (message) => {
    expect(parseOverviewRequest(message)).toBeUndefined()
  })

  it('never counts as one about the collection among 1,940 recorded questions', () => {
    const questions = readFileSync(QUESTIONS, 'utf8').split('\n')
    expect(questions.length).toBeGreaterThan(1900)
    expect(questions.filter((question) => parseOverviewRequest(question) !== undefined)).toEqual([])
  })
})
