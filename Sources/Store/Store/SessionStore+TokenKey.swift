package import Identity

extension SessionStore {
    /// What the gateway signs its users' access tokens with. It is the store's own, so that they outlive a restart and end with the store.
    package var userTokenKey: SealingKey { keychain.shared.derived(for: "user tokens") }
}
