import type { ObjectSchema } from './json-schema.ts'

/** What a model is offered, in the shape that the responses API takes; others take the parts of it. */
export type ToolDefinition =
  | {
      readonly type: 'function'
      readonly name: string
      readonly description: string
      readonly strict: false
      readonly parameters: ObjectSchema
    }
  /** Called with text as it is. */
  | {
      readonly type: 'custom'
      readonly name: string
      readonly description: string
      readonly format: { readonly type: 'grammar'; readonly syntax: 'lark'; readonly definition: string }
    }
