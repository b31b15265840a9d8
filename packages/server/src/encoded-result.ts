/** A result that is JSON already: base64 text is long, and nothing in it has to be escaped. */
export class EncodedResult {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}
