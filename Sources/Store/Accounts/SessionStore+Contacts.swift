internal import Foundation
internal import GRDB
internal import Identity

/// Contacts, and the resolution of addresses to users who may be called.
extension SessionStore {
    /// Replaces a user's contacts.
    ///
    /// - Throws: `notFound`; `refused` for more than `StoreLimits.contactsPerUserMax`, or one that is no address or is given twice.
    package func setContacts(_ contacts: [Contact], of user: UserID) async throws(StoreError) {
        guard contacts.count <= StoreLimits.contactsPerUserMax else {
            throw .refused("A user has at most \(StoreLimits.contactsPerUserMax) contacts.")
        }
        var addresses: [String] = []
        for contact in contacts {
            guard let address = UserAddress(text: contact.address) else {
                throw .refused("`address` must be an e-mail address, the id of a user, or @ and a handle.")
            }
            addresses.append(address.normalized)
        }
        guard Set(addresses).count == addresses.count else { throw .refused("An address is given twice.") }
        let (keychain, normalized) = (keychain, addresses)
        // Sealed first, because a thousand seals would delay other writes.
        let lines = try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            return try contacts.enumerated().map { position, contact in
                (
                    lookup: keychain.lookup(ofContact: normalized[position], of: user),
                    entry: try key.seal(contact, at: Self.contactLocation(user, Int64(position)))
                )
            }
        }
        try await writing { db in
            // The user may have been deleted meanwhile.
            _ = try keychain.userKey(of: user, in: db)
            try db.execute(sql: "DELETE FROM contacts WHERE user_id = ?", arguments: [user.text])
            let statement = try db.cachedStatement(sql: "INSERT INTO contacts (user_id, lookup, position, entry) VALUES (?, ?, ?, ?)")
            for (position, line) in lines.enumerated() {
                try statement.execute(arguments: [user.text, line.lookup, position, line.entry])
            }
        }
        log.emptySoon()
    }

    /// A page of a user's contacts, in their order.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    /// - Throws: `notFound` if there is no such user.
    package func contacts(
        of user: UserID, after cursor: NumberCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> NumberedPage<Contact> {
        let keychain = keychain
        return try await reading { db in
            let key = try keychain.userKey(of: user, in: db)
            let rows = try Row.fetchAll(
                db, sql: "SELECT position, entry FROM contacts WHERE user_id = ? AND position > ? ORDER BY position LIMIT ?",
                arguments: [user.text, cursor?.number ?? -1, limit + 1])
            let contacts = try rows.prefix(limit).map { row in
                try key.open(row[1], as: Contact.self, at: Self.contactLocation(user, row[0]))
            }
            return NumberedPage(elements: contacts, next: rows.count > limit ? NumberCursor(rows[limit - 1][0]) : nil)
        }
    }

    /// Resolves addresses to the users who may be called by `caller`. Addresses without an account are omitted like those of users who are
    /// not reachable, after the same work.
    ///
    /// - Parameters:
    ///   - caller: nil for an assistant.
    ///   - isConfirmed: whether only confirmed e-mail addresses are resolved.
    package func callees(
        at addresses: [UserAddress], for caller: UserID?, isConfirmed: Bool = false
    ) async throws(StoreError) -> [UserAddress: UserID] {
        let keychain = keychain
        return try await reading { db in
            let names = try caller.map { try Self.addresses(of: $0, keychain, in: db) } ?? []
            var found: [UserAddress: UserID] = [:]
            for address in addresses {
                let row = try Self.calleeRow(at: address, keychain, in: db)
                let id = row.flatMap { UserID(text: $0["id"]) }
                // Queried for unknown users as well, so that they take as long.
                let knowsCaller = try Self.isContact(names, of: id ?? UserID(), keychain, in: db)
                guard let row, let id else { continue }
                if case .email = address, isConfirmed, row["email_confirmed_at"] as Int64? == nil { continue }
                let isReachable =
                    switch ReachableBy(rawValue: row["reachable_by"]) {
                    case .anyone: true
                    case .contacts: if case .id = address { true } else { knowsCaller }
                    case .nobody, nil: false
                    }
                if isReachable || id == caller { found[address] = id }
            }
            return found
        }
    }
}

// MARK: - Rows

extension SessionStore {
    static func contactLocation(_ user: UserID, _ position: Int64) -> String { "contacts.entry.\(user) \(position)" }

    private static func calleeRow(at address: UserAddress, _ keychain: Keychain, in db: Database) throws -> Row? {
        let (column, value): (String, any DatabaseValueConvertible) =
            switch address {
            case .id(let id): ("id", id.text)
            case .email(let email): ("lookup", Data(keychain.lookup(ofEmail: email)))
            case .handle(let handle): ("handle", keychain.lookup(ofHandle: handle))
            }
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, reachable_by, email_confirmed_at FROM users u WHERE \(column) = ?
                AND EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = u.id)
                """)
        return try Row.fetchOne(statement, arguments: [value])
    }

    /// All normalized addresses by which a user may be listed in others' contacts.
    private static func addresses(of id: UserID, _ keychain: Keychain, in db: Database) throws -> [String] {
        let user = try user(id, try keychain.userKey(of: id, in: db), in: db)
        let hasPassword = try Bool.fetchOne(db, sql: "SELECT password IS NOT NULL FROM users WHERE id = ?", arguments: [id.text]) ?? false
        // This gateway cannot verify an address that an external issuer claims.
        let email = hasPassword ? user.email.map { UserAddress.email($0).normalized } : nil
        return [id.text, email, user.settings.handle.map { UserAddress.handle($0).normalized }].compactMap(\.self)
    }

    private static func isContact(_ names: [String], of user: UserID, _ keychain: Keychain, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM contacts WHERE user_id = ? AND lookup = ?")
        var isKnown = false
        for name in names {
            let lookup = keychain.lookup(ofContact: name, of: user)
            if try Bool.fetchOne(statement, arguments: [user.text, lookup]) != nil { isKnown = true }
        }
        return isKnown
    }
}

extension Keychain {
    /// Depends on the user, so that equal contacts of two users are not recognized as such in the file.
    fileprivate func lookup(ofContact normalized: String, of user: UserID) -> Data {
        Data(lookup(user.text, normalized, purpose: "contact"))
    }

    func lookup(ofHandle handle: String) -> Data { Data(lookup(handle.lowercased(), purpose: "handle")) }
}
