internal import Foundation
internal import Identity

/// An address of a user: its id, its e-mail address, or the handle that it has chosen.
package enum UserAddress: Sendable, Hashable {
    case id(UserID)
    case email(String)
    /// Without the `@`.
    case handle(String)

    /// The longest address, in bytes.
    package static let bytesMax = 256

    /// `7c0b…`, `ann@example.org` or `@ann`; nil for anything else. Ids are in lower case.
    package init?(text: String) {
        guard 1...Self.bytesMax ~= text.utf8.count else { return nil }
        if text.hasPrefix("@") {
            let handle = String(text.dropFirst())
            guard UserHandle.isValid(handle) else { return nil }
            self = .handle(handle)
        } else if let id = UserID(text: text) {
            guard id.text == text else { return nil }
            self = .id(id)
        } else {
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            self = .email(text)
        }
    }

    /// The same for all spellings of an address.
    var normalized: String {
        switch self {
        case .id(let id): id.text
        case .email(let email): email.precomposedStringWithCanonicalMapping.lowercased()
        case .handle(let handle): "@" + handle.lowercased()
        }
    }
}

/// A name that a user chooses, unique in the gateway without regard to case.
package enum UserHandle {
    package static let lengths = 3...32

    package static func isValid(_ text: String) -> Bool {
        lengths ~= text.utf8.count && text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*/) != nil
    }
}

/// Which callers can reach a user.
package enum ReachableBy: String, Sendable, Codable, CaseIterable, SQLValue {
    /// Not even those who know the user's id.
    case nobody
    /// By address, those in the user's contacts; by id, everyone.
    case contacts
    case anyone
}

/// An entry of a user's contacts. It says nothing about whether the address has an account.
package struct Contact: Sendable, Hashable, Codable {
    /// A `UserAddress`, as given.
    package var address: String
    /// The user's own name for it.
    package var name: String?
    /// Whether the user's devices list it among the favourites.
    package var favorite: Bool?
}

/// Contacts, and the resolution of addresses to users who may be called.
extension Accounts {
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
        let normalized = addresses
        // Sealed first, because a thousand seals would delay other writes.
        let lines = try await database.read { db in
            let key = try db.key(of: user)
            return try contacts.enumerated().map { position, contact in
                (
                    lookup: db.keychain.lookup(ofContact: normalized[position], of: user),
                    entry: try key.seal(contact, at: Self.contactLocation(user, Int64(position)))
                )
            }
        }
        try await database.write { db in
            // The user may have been deleted meanwhile.
            _ = try db.key(of: user)
            try db.execute("DELETE FROM contacts WHERE user_id = ?", user)
            for (position, line) in lines.enumerated() {
                try db.execute(
                    "INSERT INTO contacts (user_id, lookup, position, entry) VALUES (?, ?, ?, ?)", user, line.lookup, position, line.entry)
            }
        }
        database.eraseSoon()
    }

    /// A page of a user's contacts, in their order.
    ///
    /// - Parameter limit: 1 to `StoreLimits.linesPerPageMax`.
    package func contacts(
        of user: UserID, after cursor: NumberCursor? = nil, limit: Int = 50
    ) async throws(StoreError) -> Page<Contact, NumberCursor> {
        try await database.read { db in
            let key = try db.key(of: user)
            let rows = try db.all(
                "SELECT position, entry FROM contacts WHERE user_id = ? AND position > ? ORDER BY position LIMIT ?",
                user, cursor?.number ?? -1, limit + 1)
            return try Page(rows, limit: limit, cursor: { try NumberCursor(number: $0[0]) }) { row in
                try key.open(row[1], as: Contact.self, at: Self.contactLocation(user, row[0]))
            }
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
        try await database.read { db in
            let names = try caller.map { try Self.addresses(of: $0, in: db) } ?? []
            var found: [UserAddress: UserID] = [:]
            for address in addresses {
                let row = try Self.calleeRow(at: address, in: db)
                let id: UserID? = try row.map { try $0["id"] }
                // Queried for unknown users as well, so that they take as long.
                let knowsCaller = try Self.isContact(names, of: id ?? UserID(), in: db)
                guard let row, let id else { continue }
                if case .email = address, isConfirmed, try row["email_confirmed_at"] as WallTime? == nil { continue }
                let isReachable =
                    switch try row["reachable_by"] as ReachableBy {
                    case .anyone: true
                    case .contacts: if case .id = address { true } else { knowsCaller }
                    case .nobody: false
                    }
                if isReachable || id == caller { found[address] = id }
            }
            return found
        }
    }

    // MARK: - Rows

    static func contactLocation(_ user: UserID, _ position: Int64) -> String { "contacts.entry.\(user) \(position)" }

    private static func calleeRow(at address: UserAddress, in db: Transaction) throws -> Row? {
        let (column, value): (String, any SQLValue) =
            switch address {
            case .id(let id): ("id", id)
            case .email(let email): ("lookup", db.keychain.lookup(ofEmail: email))
            case .handle(let handle): ("handle", db.keychain.lookup(ofHandle: handle))
            }
        return try db.one(
            """
            SELECT id, reachable_by, email_confirmed_at FROM users u WHERE \(column) = ?
            AND EXISTS (SELECT 1 FROM user_keys k WHERE k.user_id = u.id)
            """, value)
    }

    /// All normalized addresses by which a user may be listed in others' contacts.
    static func addresses(of id: UserID, in db: Transaction) throws -> [String] {
        let user = try user(id, try db.key(of: id), in: db)
        let hasPassword = try db.value(Bool.self, "SELECT password IS NOT NULL FROM users WHERE id = ?", id) ?? false
        // This gateway cannot verify an address that an external issuer claims.
        let email = hasPassword ? user.email.map { UserAddress.email($0).normalized } : nil
        return [id.text, email, user.settings.handle.map { UserAddress.handle($0).normalized }].compactMap(\.self)
    }

    /// Whether one of these addresses is among a user's contacts.
    static func isContact(_ names: [String], of user: UserID, in db: Transaction) throws -> Bool {
        var isKnown = false
        for name in names {
            let lookup = db.keychain.lookup(ofContact: name, of: user)
            if try db.has("SELECT 1 FROM contacts WHERE user_id = ? AND lookup = ?", user, lookup) { isKnown = true }
        }
        return isKnown
    }
}

extension Keychain {
    /// Depends on the user, so that equal contacts of two users are not recognized as such in the file.
    fileprivate func lookup(ofContact normalized: String, of user: UserID) -> Data {
        lookup(user.text, normalized, purpose: "contact")
    }

    func lookup(ofHandle handle: String) -> Data { lookup(handle.lowercased(), purpose: "handle") }
}
