import { address, type Address } from './markdown/address';

/** The link a person clicked and has not confirmed yet. */
class Links {
  asked = $state.raw<Address | null>(null);

  ask(href: string): void {
    this.asked = address(href);
  }
}

export const links = new Links();
