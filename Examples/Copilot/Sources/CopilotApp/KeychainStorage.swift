#if canImport(Security) && os(iOS)
    import Foundation
    import PatchbayClient
    import Security

    /// Keeps an account's tokens in the Keychain, readable after the first unlock: calls may start from the car while the phone is locked.
    struct KeychainStorage: TokenStorage {
        struct Failure: Error {
            var status: OSStatus
        }

        var service = "Copilot"

        private var query: [String: Any] {
            [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service, kSecAttrAccount as String: "tokens"]
        }

        func load() async throws -> AccountTokens? {
            var request = query
            request[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(request as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
            return try JSONDecoder().decode(AccountTokens.self, from: data)
        }

        func save(_ tokens: AccountTokens?) async throws {
            guard let tokens else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
                return
            }
            let values: [String: Any] = [
                kSecValueData as String: try JSONEncoder().encode(tokens),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound { status = SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil) }
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }
#endif
