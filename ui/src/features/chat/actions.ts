/** What a person can do about a turn that ended badly. */
export interface TurnActions {
  onContinue: () => void;
  onSwitchModel: () => void;
  onSettings: () => void;
}
