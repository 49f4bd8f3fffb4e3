import type { Item } from '../../ipc/bindings';

/** A long reply is read out as far as this, in characters. */
const READ_OUT = 400;

/** The newest reply, read out once, when it is complete, and forgotten when it is not the last any more. */
export class ReadOut {
  text = $state('');
  private streaming = '';
  private spoken = '';

  follow(item: Item | undefined): void {
    if (item?.id !== this.spoken) [this.spoken, this.text] = ['', ''];
    if (item?.body.kind !== 'ai') return;
    if (item.body.streaming) this.streaming = item.id;
    else if (this.streaming === item.id) {
      this.streaming = '';
      this.spoken = item.id;
      this.text = item.body.text
        .slice(0, READ_OUT * 2)
        .replace(/[*_`#>|]+/g, '')
        .slice(0, READ_OUT);
    }
  }
}
