internal import COpenSSL
internal import Glibc

/// Validity and names of a server's certificate.
package struct ServerCertificate: Sendable, Hashable {
    /// In seconds since 1970.
    package let begins: Int64
    package let expires: Int64
    /// The DNS names and IP addresses that it is for (RFC 6125 section 6.4): its subject alternative names.
    package let names: [String]

    package init(begins: Int64, expires: Int64, names: [String]) {
        self.begins = begins
        self.expires = expires
        self.names = names
    }

    init(_ certificate: OpaquePointer) {
        begins = unsafe Self.seconds(X509_get0_notBefore(certificate))
        expires = unsafe Self.seconds(X509_get0_notAfter(certificate))
        names = unsafe Self.alternativeNames(of: certificate)
    }

    /// Whether clients accept it for this host: a DNS name, with a wildcard for one label, or an IP address.
    package func covers(_ host: String) -> Bool {
        let host = host.lowercased()
        return names.contains { name in
            let name = name.lowercased()
            if name == host { return true }
            guard name.hasPrefix("*."), let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
            return host[dot...] == name.dropFirst()
        }
    }

    /// 0 for a time that cannot be read.
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return unsafe Int64(timegm(&parts))
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> [String] {
        guard let list = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(list)
        defer { unsafe GENERAL_NAMES_free(names) }
        var texts: [String] = []
        for index in 0..<(unsafe OPENSSL_sk_num(names)) {
            guard let name = unsafe OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else { continue }
            let value = unsafe name.pointee.d.ia5
            let bytes = unsafe UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
            switch unsafe name.pointee.type {
            case GEN_DNS: texts.append(unsafe String(decoding: bytes, as: UTF8.self))
            case GEN_IPADD: if let address = Self.address(unsafe Array(bytes)) { texts.append(address) }
            default: break
            }
        }
        return texts
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
