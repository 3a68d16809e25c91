"""Files that describe a folder to build tools of other people: of ROS 2 and of firmware."""
