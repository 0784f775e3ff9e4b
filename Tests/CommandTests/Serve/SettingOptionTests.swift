import ArgumentParser
import Backend
import Foundation
import Logging
import TLSRecords
import Testing
import YAMLSettings

@testable import patchbay

/// The options and readers of `serve` are what the table of settings declares.
struct SettingOptionTests {
    @Test func everyOptionOfTheTableIsOneOfServeWithItsSentence() throws {
        let help = ServeCommand.helpMessage(columns: 10_000)
        for setting in Setting.all {
            guard let option = setting.option else { continue }
            #expect(help.contains("\n  --\(option) <") && help.contains(" \(setting.help)\n"), "--\(option): \(setting.help)")
        }
        #expect(Set(try ServeCommand.parse([]).values.keys) == Set(Setting.all.filter { $0.option != nil }.map(\.key)))
    }

    @Test func defaultsAndChoicesAreThoseOfTheTypes() throws {
        let reader = SettingsReader(flags: [:], environment: [:], file: nil)
        for setting in Setting.all {
            switch setting.kind {
            case .number where setting.standard != nil: _ = try reader.number(setting.key)
            case .flag where setting.standard != nil: _ = try reader.flag(setting.key)
            case .choice(let words):
                let type: [String]? =
                    switch setting.key {
                    case "log_level": Logger.Level.allCases.map(\.rawValue)
                    case "log_format": LogFormat.allCases.map(\.rawValue)
                    case "tls.fast_path": TLSFastPath.Mode.allCases.map(\.rawValue)
                    case "push.apns.environment": APNsSettings.Environment.allCases.map(\.rawValue)
                    default: nil
                    }
                if let type { #expect(words == type, "\(setting.key)") }
            default: break
            }
        }
    }

    @Test(arguments: [
        ("plain_host: 127.0.0.1", "plain_host: has no effect without a port for proxies; set `plain_port`, or remove it"),
        ("users: {secret: a-secret}", "users.secret: has no effect without an issuer; set `users.issuer`, or remove it"),
        ("push: {apns: {key_id: a}}", "push.apns.key_id: has no effect without Apple's key; set `push.apns.key_file`, or remove it"),
    ])
    func aSettingWithoutTheOneThatItNeedsIsNamed(yaml: String, says: String) throws {
        let file = try ConfigurationFile(yaml: yaml, name: "file")
        let error = #expect(throws: UsageError.self) {
            try SettingsReader(flags: [:], environment: [:], file: file).refuseIdleSettings()
        }
        #expect("\(try #require(error))" == says)
    }

    @Test func aSettingThatChangesNothingNeedsNothing() throws {
        let file = try ConfigurationFile(yaml: "record_sessions: false\nproxy_protocol: false\nwebhook: {urls: []}", name: "file")
        try SettingsReader(flags: [:], environment: [:], file: file).refuseIdleSettings()
    }
}
