internal import Foundation

/// Asks the system for a host's addresses, because libwebsockets says nothing of a name that does not exist, and its loop stands still while
/// the system looks.
package enum HostName {
    /// More are not tried.
    static let addressesMax = 8

    /// Why a name has no address, in the system's words.
    package struct Fault: Error, Sendable {
        package var reason: String
    }

    /// On a thread of its own: the system may take its time.
    package static func addresses(of host: String, _ completion: @escaping @Sendable (Result<[String], Fault>) -> Void) {
        let thread = Thread { completion(addresses(of: host)) }
        thread.name = "patchbay-names"
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// - Returns: numeric addresses, the one to be tried first first; at least one.
    private static func addresses(of host: String) -> Result<[String], Fault> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &found)
        guard code == 0 else { return .failure(Fault(reason: unsafe String(cString: gai_strerror(code)))) }
        defer { unsafe freeaddrinfo(found) }
        var addresses: [String] = []
        var next = unsafe found
        while let entry = unsafe next, addresses.count < addressesMax {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(text.count)
            if unsafe getnameinfo(entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST) == 0 {
                let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                if !addresses.contains(address) { addresses.append(address) }
            }
            unsafe next = unsafe entry.pointee.ai_next
        }
        return addresses.isEmpty ? .failure(Fault(reason: "it has no address")) : .success(addresses)
    }
}
