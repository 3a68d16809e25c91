/* A declaration for tests: makes a plug-in, to see that it has no pure virtual method left. */
#pragma once

#define PLUGINLIB_JOIN(a, b) a##b
#define PLUGINLIB_NAME(line) PLUGINLIB_JOIN(plugin_, line)
#define PLUGINLIB_EXPORT_CLASS(own, base) static const std::unique_ptr<base> PLUGINLIB_NAME(__LINE__) = std::make_unique<own>();
